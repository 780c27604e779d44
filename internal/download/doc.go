// Package download saves and opens files that an agent sent, and opens pages. The agent's words about a file (its
// name, its type) are not trusted: only a cleaned base name is proposed, and only the content
// decides whether a file is opened. It must not know sessions or screens.
package download
