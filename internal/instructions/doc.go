// Package instructions reads the files that instruct agents: AGENTS.md and CLAUDE.md of a directory, of its
// parents up to the root of the repository, and of the user, with the files that they import. It reads no
// file outside of the repository or, for the user's own, outside of the directory for configuration, also
// through links, and its work is bounded.
package instructions
