# formula.rb FORMULA DIST: does on this machine what Homebrew does with the formula on each of its systems: looks up the archive
# in DIST, compares its checksum, unpacks and installs it. The program itself, and the formula's test, run for linux on amd64 alone.
# The words of a formula mean here what they mean in Homebrew, as far as ours uses them.
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

RELEASES = "https://github.com/nodesim/nodesim/releases/download/"

class Pathname
  def install(*sources)
    mkpath
    sources.flatten.each do |source|
      pairs = source.is_a?(Hash) ? source : { source => File.basename(source) }
      pairs.each { |from, to| FileUtils.mv(from, self/to) }
    end
  end

  def install_symlink(sources)
    sources.each { |from, to| File.symlink(Pathname(from).relative_path_from(self), self/to) }
  end
end

class Formula
  class << self
    attr_accessor :system, :processor, :found

    %i[desc homepage license version url sha256].each do |name|
      define_method(name) { |value| (Formula.found[name] ||= []) << value }
    end
    def test(&block) = define_method(:check, &block)
    { on_macos: "darwin", on_linux: "linux" }.each { |name, of| define_method(name) { |&block| block.call if Formula.system == of } }
    { on_arm: "arm64", on_intel: "amd64" }.each { |name, of| define_method(name) { |&block| block.call if Formula.processor == of } }
  end

  def initialize(prefix) = @prefix = Pathname(prefix)

  { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d", zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d" }.each { |name, dir| define_method(name) { @prefix/dir } }

  def version = Formula.found[:version].first

  def shell_output(command)
    output = `#{command}`
    $?.success? or abort "formula: #{command} failed: #{$?}"
    output
  end

  def assert_match(want, output) = output.include?(want) || abort("formula: found #{output.inspect}: want #{want}")
end

formula, dist = ARGV.map { |path| File.expand_path(path) }
%w[darwin linux].product(%w[arm64 amd64]).each do |system, processor|
  Formula.system, Formula.processor, Formula.found = system, processor, {}
  Object.send(:remove_const, :Nodesim) if Object.const_defined?(:Nodesim)
  load formula
  Formula.found.each { |name, values| values.size == 1 or abort "formula: #{system} on #{processor}: found #{name} #{values}: want one" }
  version, url, sum = %i[version url sha256].map { |name| Formula.found.fetch(name) { abort "formula: #{system} on #{processor}: found no #{name}" }.first }
  archive = "nodesim_#{version}_#{system}_#{processor}.tar.gz"
  url == "#{RELEASES}v#{version}/#{archive}" or abort "formula: found the URL #{url}: want #{RELEASES}v#{version}/#{archive}"
  found = Digest::SHA256.file("#{dist}/#{archive}").hexdigest
  found == sum or abort "formula: #{archive}: found the checksum #{found}: want #{sum}"

  Dir.mktmpdir do |root|
    FileUtils.mkpath(["#{root}/source", "#{root}/prefix"])
    Kernel.system("tar", "-xzf", "#{dist}/#{archive}", "-C", "#{root}/source", exception: true)
    installed = Nodesim.new("#{root}/prefix")
    Dir.chdir("#{root}/source") { installed.install }
    %w[bin/nodesim bin/kubectl-nodesim bin/kubectl_complete-nodesim etc/bash_completion.d/nodesim share/zsh/site-functions/_nodesim
       share/fish/vendor_completions.d/nodesim.fish share/man/man1/nodesim.1.gz].each do |file|
      File.exist?("#{root}/prefix/#{file}") or abort "formula: #{archive}: found no #{file} after the installation"
    end
    installed.check if [system, processor] == %w[linux amd64]
  end
end
