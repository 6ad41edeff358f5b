import { statfsSync } from 'node:fs';

/**
 * The file systems of Linux that only one kernel can have mounted, by their type in `statfs(2)`. Not among them are network
 * file systems, cluster file systems, and file systems that a hypervisor or FUSE shares (9p, virtiofs, Docker Desktop, gVisor).
 */
const LOCAL_TYPES = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs: the root of a container
]);

/** Whether only this kernel can have the file system of `directory` mounted. */
export function isLocal(directory: string): boolean {
  const { type } = statfsSync(directory);
  // macOS numbers its file systems differently in each version. The type of its system disk, APFS, is local.
  if (process.platform === 'darwin') return type === statfsSync('/').type;
  return process.platform === 'linux' && LOCAL_TYPES.has(type);
}
