// Package sandcastle proves, with the real @effect/rpc, that our codecs of Sandcastle's protocol are understood: clients of theirs,
// whose schema is that of Sandcastle's document, run against the program as a server, and our client against servers of theirs,
// through cut links, killed servers and broken streams. Their frontend is there too: the engine of the hook useChat, over a
// transport as in the document, has to show what the session is.
//
// The tests drive programs of Node line by line: client.mjs, server.mjs and frontend.mjs say what they take. They are behind the
// build tag interop, since they need node and the packages that ./install puts beside this file. Without them they fail. Nothing
// of the project may import this package.
package sandcastle
