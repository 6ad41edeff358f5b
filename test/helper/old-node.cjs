// Lets a process believe that it runs on the version of Node in OLD_NODE.
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.OLD_NODE } });
