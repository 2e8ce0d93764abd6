package timeline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// frame is one compressed frame of a file.
type frame struct {
	start, end int64  // in the file
	textStart  int64  // in the text of the tape
	text       []byte // what it holds
}

// maxFrame bounds the text of a frame that is taken apart in memory.
const maxFrame = 64 << 20

// maxBlock is the largest block of a zstd frame (RFC 8878, 3.1.1.2.4).
const maxBlock = 128 << 10

// cut returns where to cut the file so that its text ends at end, and the
// lines of the frame that have to be written again after the cut.
func (f *frame) cut(end int64) (at int64, again []byte) {
	switch n := end - f.textStart; {
	case n >= int64(len(f.text)):
		return f.end, nil
	case n <= 0:
		return f.start, nil
	default:
		return f.start, f.text[:n]
	}
}

// lastFrame finds the last whole frame of a compressed file. What stands
// after it was torn off.
func lastFrame(r io.ReaderAt, size int64, c codec) (frame, error) {
	var last frame
	for at := int64(0); at < size; {
		next, err := frameAt(r, at, size, c)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err != nil && onlyNULs(r, at, size) {
			break
		}
		if err != nil {
			return last, fmt.Errorf("frame at byte %d: %w", at, err)
		}
		next.textStart = last.textStart + int64(len(last.text))
		last, at = next, next.end
	}
	if last.end == 0 {
		return last, fault("at least one", "no whole compressed frame")
	}
	return last, nil
}

// onlyNULs reports whether a file holds nothing else from an offset on; see
// frames.endsInNULs.
func onlyNULs(r io.ReaderAt, at, size int64) bool {
	raw := &zeros{r: io.NewSectionReader(r, at, size-at)}
	n, err := io.Copy(io.Discard, raw)
	return err == nil && raw.n == n
}

func frameAt(r io.ReaderAt, at, size int64, c codec) (frame, error) {
	if c == gzipped {
		return gzipFrame(r, at, size)
	}
	return zstdFrame(r, at, size)
}

func gzipFrame(r io.ReaderAt, at, size int64) (frame, error) {
	counted := &counter{r: io.NewSectionReader(r, at, size-at)}
	// The inflater reads no byte too many from a ByteReader.
	b := bufio.NewReader(counted)
	z, err := gzip.NewReader(b)
	if err != nil {
		return frame{}, err
	}
	z.Multistream(false)
	text, err := io.ReadAll(io.LimitReader(z, maxFrame+1))
	if err == nil && len(text) > maxFrame {
		err = fault("at most 64 MiB", "a frame with more text than that")
	}
	return frame{start: at, end: at + counted.n - int64(b.Buffered()), text: text}, err
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// zstdFrame walks over the blocks of a frame by their headers (RFC 8878,
// 3.1.1.2) to find its end, and then decodes it.
func zstdFrame(r io.ReaderAt, at, size int64) (frame, error) {
	head := make([]byte, min(zstd.HeaderMaxSize, size-at))
	if _, err := r.ReadAt(head, at); err != nil && !errors.Is(err, io.EOF) {
		return frame{}, err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return frame{}, err
	}
	end := at + int64(h.HeaderSize)
	if h.Skippable {
		end += int64(h.SkippableSize)
	}
	for last := h.Skippable; !last; {
		var block [4]byte
		if _, err := r.ReadAt(block[:3], end); err != nil {
			return frame{}, err
		}
		v := binary.LittleEndian.Uint32(block[:])
		last = v&1 != 0
		end += 3
		if v>>3 > maxBlock { // not the end of a torn frame: what comes after it would be cut off
			return frame{}, fault("at most 128 KiB", "a block of %d bytes", v>>3)
		}
		switch kind := v >> 1 & 3; kind {
		case 1: // RLE: one byte represents many
			end++
		case 3:
			return frame{}, errors.New("a reserved block type")
		default:
			end += int64(v >> 3)
		}
	}
	if h.HasCheckSum {
		end += 4
	}
	if end > size {
		return frame{}, io.ErrUnexpectedEOF
	}
	f := frame{start: at, end: end}
	if h.Skippable {
		return f, nil
	}
	packed := make([]byte, end-at)
	if _, err := r.ReadAt(packed, at); err != nil {
		return frame{}, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		return frame{}, err
	}
	defer d.Close()
	f.text, err = d.DecodeAll(packed, nil)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it was all there
		err = errors.New("a damaged frame")
	}
	return f, err
}

func (c codec) name() string {
	return map[codec]string{plainText: "plain text", gzipped: "gzip", zstandard: "zstd"}[c]
}
