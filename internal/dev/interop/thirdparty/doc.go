// Package thirdparty tests agentctl's codecs of MyAgent's and AgentLoop's protocols against
// independent programs: clients and servers in Python, written with the standard library from the
// protocols' documents and from recordings of the real systems. Third-party clients run against
// agentctl's server, and agentctl's client against third-party servers, with cut connections and
// restarts. This includes signed state as produced by Python's json, hashlib and hmac.
//
// The tests are behind the build tag interop. They need python3 and fail without it. No other
// package may import this package.
package thirdparty
