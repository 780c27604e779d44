// Package filechange owns the file changes of a tool call or an approval. It reads them from
// structured content, patches and arguments, and renders them as diffs. Users approve changes by
// these diffs, so it must show every byte of a change or report how much it omits.
package filechange
