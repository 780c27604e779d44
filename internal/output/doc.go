// Package output owns what a command writes: results as text or as lines of compact JSON, notes and
// errors on stderr, and the formatting of sessions, users and approvals in text. No control
// sequence of untrusted text reaches a terminal through it. It must not know any verb.
package output
