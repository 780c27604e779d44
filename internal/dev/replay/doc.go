// Package replay plays conversations of a dialect to agentctl's end of the other side.
//
// A conversation is a file of frames with their order. The frames of a server are played to
// agentctl's client: the transcript that results is compared with a golden file. The frames of a
// client are played to agentctl's server with a scripted agent: each message that it sends must
// have the shape of the real server's. The lines of an agent of the Agent Client Protocol are
// played to a server's session, which is their client. One table per dialect says what its messages
// are, by which commands of users an end sends them, and which differences are known.
//
// The conversations in testdata are written by hand and need nothing else. With the build tag
// replay, the tests also play recordings of the real systems, from the directory that the variable
// AGENTCTL_RECORDINGS names, and hold the conversations of testdata to the recordings' shapes.
package replay
