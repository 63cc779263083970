// argv → command. The only file that knows process.

export async function main(): Promise<void> {
  process.stdout.write("secretcast\n");
}
