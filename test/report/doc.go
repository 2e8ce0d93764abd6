// Package report opens reports of nodesim in a real browser, Chromium without a screen, and holds them to what a reader does with
// them: zoom, search, keys, printing; to asking nobody for anything; and to their content security policy, with tapes whose names
// are markup. It is a module of its own, so that nodesim's needs no browser's protocol. `make browser` runs it.
//
// NODESIM names the program. NODESIM_PICTURES names a folder for pictures of all scenarios, for people to look at.
package report
