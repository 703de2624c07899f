// Package files keeps bytes in a folder: a [resource.BlobStore] of which each id is the name of a file.
//
//	folder, err := files.New("uploads", nil)
//	...
//	catalog := resource.NewCatalog(nil, resource.NewBlobs("files", folder, nil))
//
// A folder that is there already can be served: its plain files are there under their names, with the media type that goes
// with their extension. Folders in it, links, devices and names that begin with a dot are not served, and no name leads out
// of it, since everything goes through an [os.Root].
//
// # What is in the folder
//
// The content of an id is the file of that name, and nothing else, so that other programs can read it. What a name has no
// room for is below .stoa: declared media types, digests and revisions in meta, names that were deleted in gone, uploads that
// are not complete in tmp, and files to lock in locks.
//
// # Durability
//
// Put writes to a file in tmp, syncs it, writes what is known of it to meta, syncs that, and renames the file to its name.
// The rename is the one moment at which the new content is there, with all that is known of it, and before which the old
// content is there, with all that was known of that: meta is found by size and time of the file, which the rename keeps, and
// Put gives each file a time of its own. A process that is killed anywhere leaves one of the two, and debris that [New]
// sweeps. Put returns when the folder has been synced, too.
//
// To copy the folder, .stoa included, with a program that keeps times to the nanosecond keeps everything. A file that is
// written or touched by other programs becomes one of which nothing was declared; it has a new revision, as long as its time
// or its size tells. Other programs should rename files into the folder, as Put does: a file that is written in place
// changes under those who are reading it.
//
// # Who may write at once
//
// Any number of goroutines, and any number of processes where the system has flock(2): Linux, macOS and the BSDs. The file
// system has to have it, too; NFS may not. Elsewhere, on Windows for one, only one process may write to a folder.
//
// Where the file system does not tell A from a, as on macOS and Windows, /files/A and /files/a are one file: it can be read
// under both names, and a Put under the one replaces what was Put under the other. The revision protects it all the same.
package files
