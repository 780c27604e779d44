// Package tool has the tools of the llm agent: they read, search and change files, run commands and
// fetch pages.
//
// It owns how a call is checked, what users are shown before it runs, and the bounds of its work
// and of its result. File tools reach the session's directory alone, after resolving links; the
// preview of a call that reaches further says so. The package must not know which calls run without
// asking: the policy decides it.
package tool
