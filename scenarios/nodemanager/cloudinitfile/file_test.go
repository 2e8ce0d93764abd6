package cloudinitfile_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
)

func Example() {
	file, err := cloudinitfile.New("#cloud-config\nruncmd: [curl {{.ItzoURL}}/{{.ItzoVersion}}]\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := file.Contents(cloudinitfile.Values{ItzoVersion: "v1.2", ItzoURL: "https://example.com/itzo"})
	fmt.Print(text, err)
	// Output:
	// #cloud-config
	// runcmd: [curl https://example.com/itzo/v1.2]
	// <nil>
}

func TestBadTemplates(t *testing.T) {
	if _, err := cloudinitfile.New("{{.ItzoURL"); err == nil {
		t.Error("an open brace: found no error")
	}
	file, err := cloudinitfile.New("{{.Password}}")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := file.Contents(cloudinitfile.Values{}); err == nil {
		t.Errorf("an unknown name: found %q, want an error", text)
	}
	if text, err := (*cloudinitfile.File)(nil).Contents(cloudinitfile.Values{}); text != "" || err != nil {
		t.Errorf("no file: found %q, %v, want nothing", text, err)
	}
}
