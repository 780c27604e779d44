// Package atomicfile replaces files: a reader sees the old or the new content, never a part, even
// after a power cut. It must not know formats or locations of files.
package atomicfile
