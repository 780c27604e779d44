// Package browser tests what the pages of a real browser can do: Chromium shows pages that try to
// reach a running server in every way that a page has. They inspect what the page got and what the
// server answered.
//
// The tests are behind the build tag browser. They need Chromium and fail without it. No other
// package may import this package.
package browser
