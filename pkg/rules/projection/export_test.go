package projection

// Decodes reports whether the decoder is certain of a document.
func (f *Fields) Decodes(document []byte) bool { return decode(f.node(), document) != nil }
