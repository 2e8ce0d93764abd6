// Package mask finds credentials in texts by their shape and puts [Word] in
// their place. What it knows:
//
//   - userinfo: scheme://user:password@host, scheme://token@host, and
//     user:password@host without a scheme, as in names of images;
//   - PEM blocks, also in base64;
//   - tokens that say what they are: JWTs, kubeadm's bootstrap tokens, AWS access
//     key IDs, and those that begin as the table in prefix.go says;
//   - values that are named: password=…, --token …, "secret":"…",
//     password: …, Authorization: Bearer … and Basic …
//
// It doesn't guess by randomness: digests, UIDs, provider IDs and resource
// versions look as random as a key does. A secret without a known shape or
// name is not found.
//
// Time is linear in the text, whatever it holds. Most texts hold no byte at
// which a credential could be, and [Scan] tells so while it looks for the end
// of a JSON string. The package imports nothing of this project.
package mask

// Word replaces a credential. It is a valid label value and a
// valid part of an image's name, so that masked objects stay valid.
const Word = "redacted"
