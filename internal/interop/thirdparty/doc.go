// Package thirdparty proves that our codecs of MyAgent's and AgentLoop's protocols are understood by programs that have nothing in
// common with them: clients and servers in Python, written from those protocols' documents and from what their real systems put on the
// wire, with the standard library alone. Their clients run against the program as a server, our client runs against their servers,
// through cut links and restarts. What Python's json, hashlib and hmac make of a signed state is part of that.
//
// The tests are behind the build tag interop, since they need python3. Without it they fail. Nothing of the project may import this
// package.
package thirdparty
