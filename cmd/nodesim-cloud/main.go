// Command nodesim-cloud is nodesim with the buckets of clouds linked: --store takes s3://, gs:// and azblob:// URLs, as gocloud.dev/blob
// has them. It is a module of its own, since the clouds' libraries are as large as the rest of the program, and nobody who imports a
// package of nodesim should get them.
package main

import (
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/nodesim/nodesim/cmd/nodesim/app"
	"github.com/nodesim/nodesim/recorder/store"
)

func main() {
	for _, scheme := range []string{"azblob", "gs", "s3"} {
		store.Register(scheme, open)
	}
	app.Main()
}
