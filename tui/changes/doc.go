// Package changes reads the file changes of sessions that their transcripts have not loaded, and shows those
// of two sessions against each other. It does not know the views of the sessions.
package changes
