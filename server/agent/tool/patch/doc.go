// Package patch parses patches in the apply_patch format ("*** Begin Patch") and applies them to
// texts. It is pure: it reads no files, and its work is bounded.
package patch
