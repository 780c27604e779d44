// Package files saves and opens the files of a session's items, opens the places that they name in
// the user's editor, and exports the session. It asks with overlays for what it needs to know.
package files
