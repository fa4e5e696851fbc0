// Command bench compares dyncontroller with controllers that do the same by hand, on a real API server. "make bench-quick"
// and "make bench-cluster" run it from the root of the repository; docs/performance.md says what it measures, and how.
//
// It starts bin/cluster, fills it with TidbClusters, and then runs the contenders by turns, each as a process of its own:
// those of the package controllers, and bin/dyncontroller with the rule file of the job. What they do is seen from
// outside: by a watch on the API server, by its count of requests, and in /proc.
//
// It is a module of its own, so that controller-runtime stays out of that of the operator. It runs on Linux.
package main
