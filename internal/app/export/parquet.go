package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The numbers of Parquet's metadata that are written, in https://github.com/apache/parquet-format,
// src/main/thrift/parquet.thrift. github.com/parquet-go/parquet-go reads the result in the tests; as a part of the program it
// would link 48 more packages.
const (
	typeBoolean, typeInt64, typeDouble, typeByteArray = 0, 2, 5, 6 // Type
	repetitionRequired, repetitionOptional            = 0, 1       // FieldRepetitionType
	convertedUTF8, convertedMicros                    = 0, 10      // ConvertedType
	encodingPlain, encodingRLE                        = 0, 3       // Encoding
	codecZstd                                         = 6          // CompressionCodec
	pageData                                          = 0          // PageType
)

// mostGroupRows is the number of rows of a row group: what a reader holds at once.
const mostGroupRows = 1 << 16

// writeParquet writes a table, with a page for each column of each row group.
func writeParquet(w io.Writer, t *table) error {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return err
	}
	out := &counted{w: w}
	out.write([]byte("PAR1"))
	var groups []func(*thrift)
	for from := 0; from < t.rows; from += mostGroupRows {
		rows := min(mostGroupRows, t.rows-from)
		var chunks []func(*thrift)
		total := int64(0)
		for _, c := range t.columns {
			plain := c.page(from, rows)
			packed := z.EncodeAll(plain, nil)
			var head thrift
			head.structure(pageHeader(rows, len(plain), len(packed)))
			at := out.n
			out.write(head.Bytes())
			out.write(packed)
			whole := int64(head.Len() + len(plain))
			total += whole
			chunks = append(chunks, c.chunk(at, int64(rows), whole, out.n-at))
		}
		groups = append(groups, func(f *thrift) {
			f.list(1, chunks)
			f.i64(2, total)
			f.i64(3, int64(rows))
		})
	}
	var footer thrift
	footer.structure(func(f *thrift) { // FileMetaData
		f.i32(1, 1) // version
		f.list(2, t.schema())
		f.i64(3, int64(t.rows))
		f.list(4, groups)
		f.string(6, "nodesim")
	})
	out.write(footer.Bytes())
	out.write(binary.LittleEndian.AppendUint32(nil, uint32(footer.Len())))
	out.write([]byte("PAR1"))
	return out.err
}

// schema are the SchemaElements: the root, and the columns.
func (t *table) schema() []func(*thrift) {
	all := []func(*thrift){func(f *thrift) {
		f.string(4, t.name)
		f.i32(5, int32(len(t.columns))) // num_children
	}}
	for _, c := range t.columns {
		all = append(all, func(f *thrift) {
			f.i32(1, c.kind.physical())
			f.i32(3, c.kind.repetition())
			f.string(4, c.name)
			switch c.kind {
			case isText:
				f.i32(6, convertedUTF8)
				f.field(10, thriftStruct)                   // LogicalType
				f.structure(func(l *thrift) { l.empty(1) }) // STRING
			case isTime:
				f.i32(6, convertedMicros)
				f.field(10, thriftStruct)
				f.structure(func(l *thrift) {
					l.field(8, thriftStruct) // TIMESTAMP
					l.structure(func(ts *thrift) {
						ts.field(1, thriftTrue)                      // isAdjustedToUTC
						ts.field(2, thriftStruct)                    // TimeUnit
						ts.structure(func(u *thrift) { u.empty(2) }) // MICROS
					})
				})
			}
		})
	}
	return all
}

func (k kind) physical() int32 {
	switch k {
	case isSeconds:
		return typeDouble
	case isCount, isTime:
		return typeInt64
	case isFlag:
		return typeBoolean
	}
	return typeByteArray
}

// repetition tells whether cells may be absent.
func (k kind) repetition() int32 {
	if k == isCount || k == isFlag {
		return repetitionRequired
	}
	return repetitionOptional
}

// chunk is a ColumnChunk whose only page is at this place of the file.
func (c column) chunk(at, rows, plain, packed int64) func(*thrift) {
	return func(f *thrift) {
		f.i64(2, at) // file_offset
		f.field(3, thriftStruct)
		f.structure(func(m *thrift) { // ColumnMetaData
			m.i32(1, c.kind.physical())
			m.i32s(2, encodingPlain, encodingRLE)
			m.strings(3, c.name) // path_in_schema
			m.i32(4, codecZstd)
			m.i64(5, rows)
			m.i64(6, plain)
			m.i64(7, packed)
			m.i64(9, at) // data_page_offset
		})
	}
}

func pageHeader(rows, plain, packed int) func(*thrift) {
	return func(f *thrift) {
		f.i32(1, pageData)
		f.i32(2, int32(plain))
		f.i32(3, int32(packed))
		f.field(5, thriftStruct)
		f.structure(func(d *thrift) { // DataPageHeader
			d.i32(1, int32(rows))
			d.i32(2, encodingPlain)
			d.i32(3, encodingRLE) // of definition levels
			d.i32(4, encodingRLE) // of repetition levels, of which there are none
		})
	}
}

// page is what a data page holds: which cells are there, in runs of equal levels, and those cells (Encodings.md: "Run Length
// Encoding / Bit-Packing Hybrid" and "Plain").
func (c column) page(from, rows int) []byte {
	cells := c.cells[from : from+rows]
	var b []byte
	if c.kind.repetition() == repetitionOptional {
		var levels []byte
		for i := 0; i < rows; {
			run := i
			for run < rows && (cells[run] == nil) == (cells[i] == nil) {
				run++
			}
			level := byte(1)
			if cells[i] == nil {
				level = 0
			}
			levels = append(binary.AppendUvarint(levels, uint64(run-i)<<1), level)
			i = run
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(levels)))
		b = append(b, levels...)
	}
	start := len(b)
	for i, v := range cells {
		switch v := v.(type) {
		case string:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case time.Time:
			b = binary.LittleEndian.AppendUint64(b, uint64(v.UnixMicro()))
		case bool:
			if i%8 == 0 {
				b = append(b, 0)
			}
			if v {
				b[start+i/8] |= 1 << (i % 8)
			}
		}
	}
	return b
}

// counted is a file with its length so far, and its first error.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
	c.n += int64(len(b))
}

// thrift is a message in Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
type thrift struct {
	bytes.Buffer
	last int16 // the field before, of the structure that is written
}

// The types of the compact protocol.
const (
	thriftTrue, thriftI32, thriftI64, thriftBinary, thriftList, thriftStruct = 1, 5, 6, 8, 9, 12
)

// structure writes a structure, whose fields fill writes in their order.
func (t *thrift) structure(fill func(*thrift)) {
	before := t.last
	t.last = 0
	fill(t)
	t.WriteByte(0)
	t.last = before
}

func (t *thrift) field(id int16, kind byte) {
	if id-t.last > 15 || id <= t.last {
		panic(fmt.Sprintf("thrift: field %d after %d: want a higher one, by at most 15", id, t.last))
	}
	t.WriteByte(byte(id-t.last)<<4 | kind)
	t.last = id
}

func (t *thrift) empty(id int16) {
	t.field(id, thriftStruct)
	t.structure(func(*thrift) {})
}

func (t *thrift) varint(v uint64) { t.Write(binary.AppendUvarint(nil, v)) }

func (t *thrift) i32(id int16, v int32) {
	t.field(id, thriftI32)
	t.Write(binary.AppendVarint(nil, int64(v)))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, thriftI64)
	t.Write(binary.AppendVarint(nil, v))
}

func (t *thrift) string(id int16, s string) {
	t.field(id, thriftBinary)
	t.varint(uint64(len(s)))
	t.WriteString(s)
}

func (t *thrift) head(id int16, n int, kind byte) {
	t.field(id, thriftList)
	if n < 15 {
		t.WriteByte(byte(n)<<4 | kind)
		return
	}
	t.WriteByte(0xf0 | kind)
	t.varint(uint64(n))
}

func (t *thrift) list(id int16, all []func(*thrift)) {
	t.head(id, len(all), thriftStruct)
	for _, fill := range all {
		t.structure(fill)
	}
}

func (t *thrift) i32s(id int16, all ...int32) {
	t.head(id, len(all), thriftI32)
	for _, v := range all {
		t.Write(binary.AppendVarint(nil, int64(v)))
	}
}

func (t *thrift) strings(id int16, all ...string) {
	t.head(id, len(all), thriftBinary)
	for _, s := range all {
		t.varint(uint64(len(s)))
		t.WriteString(s)
	}
}
