// Package download fetches a file over HTTP and keeps it only if its checksum is right.
//
// In: a [File], which is an address, a checksum and a limit of bytes. Out: the file under the name that the caller
// wants, or an error of one line and no file of that name.
//
// What has arrived is in a file with ".part" at the end of its name until it is whole. A failed attempt is repeated,
// after a pause, from where it ended, where the server offers that; so is the download that an earlier process began.
// The environment names the proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), as [net/http.ProxyFromEnvironment] reads them.
//
// A server is not trusted: it decides neither what is kept (the checksum does) nor how much is written (the limit does).
// The package must never leave a file under the final name that it has not verified. It doesn't lock: two calls at the
// same time for one name are the caller's mistake.
package download
