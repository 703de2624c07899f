// Package clients is nothing itself: below it are clients of the shop, which the script run generates from the SDL at
// /graphql/schema.graphql, and tests that use them as an application would.
package clients
