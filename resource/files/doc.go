// Package files stores blobs in a folder of the file system. A [Folder] is a [blob.Store]
// in which each id is the name of a file.
//
//	folder, err := files.New("uploads", nil)
//	...
//	catalog := resource.NewCatalog(nil, blob.New("files", folder, nil))
//
// An existing folder can be served: its regular files appear under their names, with the media type
// of their extension. Subfolders, links, devices and names that begin with a dot are not served.
// All access uses an [os.Root], so that no name can refer to a file outside the folder.
//
// # Files in the folder
//
// The content of an id is in the file of that name, unchanged, so that other programs can read it.
// The subfolder .stoa contains everything else: meta has declared media types, digests and
// revisions; gone has the names of deleted files; tmp has incomplete uploads; locks has the files
// that are locked, with times of deletions.
//
// # Durability
//
// Put writes the content to a file in tmp, syncs it, writes its metadata to meta, syncs that, and
// renames the file. The rename atomically replaces the old content and its metadata by the new
// ones: metadata is found by the name, the size and the modification time of the file, and Put
// gives each file a unique time. If the process is killed, either state remains, with temporary
// files that [New] removes. Put returns after it has synced the folder.
//
// To make a backup, copy the folder including .stoa with a program that keeps times in nanoseconds.
// A file that other programs write or touch loses its metadata and gets a new revision if its time
// or size has changed. Other programs should rename files into the folder, as Put does, because
// readers would observe a file that is written in place while it changes.
//
// # Concurrency
//
// Any number of goroutines may use a Folder. Any number of processes may use the folder on systems
// with flock(2) (Linux, macOS and the BSDs) if the file system supports it; NFS may not. On other
// systems, such as Windows, only one process may write to a folder.
//
// On file systems that ignore case, as on macOS and Windows, /files/A and /files/a are the same
// file. It can be read under both names, and a Put of one replaces the other; the revision is
// checked as usual.
package files
