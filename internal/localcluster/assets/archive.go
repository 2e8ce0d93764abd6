package assets

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// unpackMember writes one file of an archive, which its name says to be a .zip or a .tar.gz. Other names in the archive
// are read over; nothing else of it reaches the disk.
func unpackMember(archive, member, to string, limit int64) error {
	if strings.HasSuffix(archive, ".zip") {
		return fromZip(archive, member, to, limit)
	}
	return fromTar(archive, member, to, limit)
}

func fromTar(archive, member, to string, limit int64) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	packed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for all := tar.NewReader(packed); ; {
		head, err := all.Next()
		switch {
		case errors.Is(err, io.EOF):
			return errNoMember(member)
		case err != nil:
			return err
		case head.Name == member && head.Typeflag == tar.TypeReg:
			return copyOut(all, to, limit)
		}
	}
}

func fromZip(archive, member, to string, limit int64) error {
	all, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer all.Close() //nolint:errcheck // it was only read
	for _, f := range all.File {
		if f.Name != member || !f.Mode().IsRegular() {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		return errors.Join(copyOut(from, to, limit), from.Close())
	}
	return errNoMember(member)
}

func errNoMember(member string) error {
	return fmt.Errorf("found no file %s in the archive, want one", member)
}

func copyOut(from io.Reader, to string, limit int64) error {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(from, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("found a file of more than %d bytes in the archive", limit)
	}
	return errors.Join(err, out.Close())
}
