// Package userstate keeps the state of a user's programs between runs, such as drafts and choices
// on the screen, in JSON files. It owns the choice of their directory, and their reading and
// writing. It must not know the contents of a file.
package userstate
