// Package config turns flags, the environment and a file into one validated
// [Config] that does not change afterwards.
//
//	flag > DYNCONTROLLER_* > --config file > default
//
// Every setting is one row of one table, and has one name: --kube-api-qps is
// DYNCONTROLLER_KUBE_API_QPS in the environment and kube-api-qps in the file.
// A value is checked where it was written, so that the error points there, and
// the check is what reads it: it means the same wherever it was written.
//
// Rules never pass through here: viper lower-cases keys and splits them on
// dots.
package config
