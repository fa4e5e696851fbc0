// Package scrapeauth authenticates and authorizes who scrapes the metrics, as kube-rbac-proxy does.
//
//	bearer token -> TokenReview         -> who it is, or 401
//	who, path    -> SubjectAccessReview -> may get the path, or 403
//
// Answers are cached for a while. While the API server cannot be asked, nobody is let in.
package scrapeauth
