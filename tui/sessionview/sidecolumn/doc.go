// Package sidecolumn implements the column beside the transcript: sections about the session, one
// below the other. On a narrow screen it is an overlay. It does not know the panels whose sections it
// shows.
package sidecolumn
