// Package atomicfile replaces files: a reader sees the former content or the new one, never a part,
// also after a power cut. It knows no format and no place of a file.
package atomicfile
