// A Linux program (ELF, 64 bits, little-endian) with one more note, and without what only a debugger reads.
// The last loaded segment is lengthened by the notes, so no header moves and no other byte of the program
// changes: it works for a program of another processor too, and needs no tool of the platform.

/** Offsets in the header of the file and in a program header, and their sizes. */
const HEADER = {
  magic: 0x7f454c46,
  class64: 2,
  littleEndian: 1,
  programs: 0x20,
  sections: 0x28,
  programSize: 0x36,
  programCount: 0x38,
  sectionCount: 0x3c,
  sectionNames: 0x3e,
  bytes: 0x40,
} as const;
const FIELD = { offset: 8, address: 16, physical: 24, inFile: 32, inMemory: 40 } as const;
const LOAD = 1;
const NOTE = 4;
const NOTE_ALIGNMENT = 4;
const SEGMENT_ALIGNMENT = 16;

type Segment = {
  /** Of its header, in the file. */
  readonly header: number;
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly inFile: number;
  readonly inMemory: number;
};

/** Throws one line if the program is not as expected. */
export function withNote(program: Buffer, name: string, content: Buffer): Buffer {
  const segments = segmentsOf(program);
  const last = lastLoaded(segments);
  const [notes, ...more] = segments.filter(({ type }) => type === NOTE);
  if (notes === undefined || more.length > 0)
    throw new Error(`the program has ${more.length + (notes ? 1 : 0)} note segments, not one`);
  const known = program.subarray(notes.offset, notes.offset + notes.inFile);
  const all = Buffer.concat([padded(known, NOTE_ALIGNMENT), noteOf(name, content)]);
  // What the program expects to be zero at its start is in the file from now on.
  const start = roundUp(last.inMemory, SEGMENT_ALIGNMENT);
  const loaded = program.subarray(0, last.offset + last.inFile);
  const made = Buffer.concat([loaded, Buffer.alloc(start - last.inFile), all]);
  for (const field of [FIELD.inFile, FIELD.inMemory]) {
    write(made, last.header + field, start + all.length);
    write(made, notes.header + field, all.length);
  }
  write(made, notes.header + FIELD.offset, last.offset + start);
  for (const field of [FIELD.address, FIELD.physical])
    write(made, notes.header + field, last.address + start);
  // The table of sections was behind the last segment, with the symbols.
  write(made, HEADER.sections, 0);
  made.writeUInt16LE(0, HEADER.sectionCount);
  made.writeUInt16LE(0, HEADER.sectionNames);
  return made;
}

/** The content of the note with that name; undefined if there is none. */
export function noteIn(program: Buffer, name: string): Buffer | undefined {
  for (const { type, offset, inFile } of segmentsOf(program)) {
    if (type !== NOTE) continue;
    for (let at = offset; at + 12 <= offset + inFile;) {
      const nameAt = at + 12;
      const nameBytes = program.readUInt32LE(at);
      const contentBytes = program.readUInt32LE(at + 4);
      const contentAt = nameAt + roundUp(nameBytes, NOTE_ALIGNMENT);
      if (program.toString("latin1", nameAt, nameAt + nameBytes) === `${name}\0`)
        return program.subarray(contentAt, contentAt + contentBytes);
      at = contentAt + roundUp(contentBytes, NOTE_ALIGNMENT);
    }
  }
  return undefined;
}

function segmentsOf(program: Buffer): readonly Segment[] {
  if (
    program.length < HEADER.bytes ||
    program.readUInt32BE(0) !== HEADER.magic ||
    program[4] !== HEADER.class64 ||
    program[5] !== HEADER.littleEndian
  )
    throw new Error("not an ELF program of 64 bits");
  const size = program.readUInt16LE(HEADER.programSize);
  const first = read(program, HEADER.programs);
  return Array.from({ length: program.readUInt16LE(HEADER.programCount) }, (_, index) => {
    const header = first + index * size;
    const field = (offset: number): number => read(program, header + offset);
    return {
      header,
      type: program.readUInt32LE(header),
      offset: field(FIELD.offset),
      address: field(FIELD.address),
      inFile: field(FIELD.inFile),
      inMemory: field(FIELD.inMemory),
    };
  });
}

function lastLoaded(segments: readonly Segment[]): Segment {
  const loaded = segments
    .filter(({ type }) => type === LOAD)
    .toSorted((a, b) => a.address - b.address);
  const last = loaded.at(-1);
  const end = ({ offset, inFile }: Segment): number => offset + inFile;
  if (last === undefined || loaded.some((each) => end(each) > end(last)))
    throw new Error("the segment with the highest address is not the last one in the file");
  return last;
}

function noteOf(name: string, content: Buffer): Buffer {
  const text = Buffer.from(`${name}\0`, "latin1");
  const head = Buffer.alloc(12);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, padded(text, NOTE_ALIGNMENT), padded(content, NOTE_ALIGNMENT)]);
}

const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;
const padded = (bytes: Buffer, to: number): Buffer =>
  Buffer.concat([bytes], roundUp(bytes.length, to));
const read = (from: Buffer, at: number): number => Number(from.readBigUInt64LE(at));
const write = (into: Buffer, at: number, value: number): void =>
  void into.writeBigUInt64LE(BigInt(value), at);
