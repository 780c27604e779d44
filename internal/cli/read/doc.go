// Package read has the verbs that read a session: its status, events, history, context, options and
// blobs, search, and documents made of it.
//
// It uses nothing of the packages of other verbs.
package read
