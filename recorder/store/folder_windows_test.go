package store

import (
	"net/url"
	"testing"
)

// The path of a URL has a slash before the drive, the name of a folder has none.
func TestFolderOnADrive(t *testing.T) {
	u, err := url.Parse("file:///C:/tapes")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := folderOf(u); got != `C:\tapes` || err != nil {
		t.Errorf(`found %s, %v, want C:\tapes`, got, err)
	}
}
