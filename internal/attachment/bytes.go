package attachment

// FromBytes returns data that is in no file as a file to send with a message. If it is more than a
// message holds, [Parts] returns an error.
func FromBytes(name string, data []byte) File {
	return File{Name: name, Size: int64(len(data)), data: data, MediaType: mediaType(name, data)}
}
