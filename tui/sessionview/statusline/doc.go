// Package statusline implements the last line of the session view: the connection, the status message
// or the state of the turn, and details of the session, among them its directory and git branch. The
// least important details are left out first. It reads the replica and changes nothing.
package statusline
