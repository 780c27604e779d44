// Package tool has the tools of the llm agent: they read, search and change files, run commands and
// fetch pages.
//
// It owns the checks of a call, its preview for users, and the bounds of its work and of its
// result. File tools reach only the session's directory, after resolving links; the preview of a
// call states if it reaches further. The package must not know which calls run without asking: the
// policy decides it.
package tool
