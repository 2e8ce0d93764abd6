// Package tapefmt rewrites tapes in files: a tape in one style goes in, the
// same tape in another style comes out, on a stream or in place.
//
// In place means in one step: the new text is written beside the file and takes
// its place only when it is whole, with the file's mode and compression. An
// error leaves the file as it was.
package tapefmt
