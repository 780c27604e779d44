// Package sandcastle proves, with the real @effect/rpc, that our codecs of Sandcastle's protocol are understood: a client of
// theirs, whose schema is that of Sandcastle's document, runs against a server of ours, and our client against a server of
// theirs.
//
// The tests are behind the build tag interop, since they need node and the packages that ./install puts beside this file.
// Without them they fail. Nothing of the project may import this package.
package sandcastle
