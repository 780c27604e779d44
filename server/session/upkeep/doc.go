// Package upkeep bounds the size of a store of sessions: it removes unused sessions by a retention,
// and refuses growth while the store is over its limit.
//
// It must not know how a session is removed.
package upkeep
