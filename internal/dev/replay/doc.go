// Package replay plays conversations of a dialect to agentctl's codec of the other end.
//
// A conversation is a file of frames with their order. The frames of a server are played to
// agentctl's client: the transcript that comes of them is compared with a golden file. The frames
// of a client are played to agentctl's server with a scripted agent: each message that it sends
// must have the shape of the real server's.
//
// The lines of an agent of the Agent Client Protocol are played to a server's session: the commands
// of a user make it send what the conversation's client sent, and the transcript is compared too.
//
// The conversations in testdata are written by hand and need nothing else. With the build tag
// replay, the tests also play recordings of the real systems, from the directory that the variable
// AGENTCTL_RECORDINGS names, and hold the conversations of testdata to the recordings' shapes.
package replay
