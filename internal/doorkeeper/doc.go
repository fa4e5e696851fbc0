// Package doorkeeper lets in only who the API server knows, and allows.
//
//	bearer token -> TokenReview         -> who it is, or 401
//	who, path    -> SubjectAccessReview -> may get the path, or 403
//
// Answers are remembered for a while. Where the API server cannot be asked, nobody comes in.
package doorkeeper
