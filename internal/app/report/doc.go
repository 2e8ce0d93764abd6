// Package report makes the picture of a roll: an analysis of a tape and its feed go in, one HTML file comes out. The file holds
// its data, its style and its script, asks nobody for anything, and opens in any browser.
//
// The page computes nothing that analysis.Analysis doesn't say. What it shows is chosen and scaled in the browser, by the
// scripts in the folder web, which [Write] joins in the order of the list in page.go. They are plain JavaScript without a
// library; docs/decisions.md says why.
//
// # What it must never do
//
// Let data become code. Names, reasons and messages of a tape are strings of one block of JSON that no string can end, the
// page shows them as text nodes only, and its content security policy allows the one script and the one style by their
// hashes, no connection, and no markup from strings.
package report
