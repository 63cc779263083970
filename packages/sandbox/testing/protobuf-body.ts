// Bodies in Kubernetes protobuf, as a Go client sends them.

/** A value of a message: a number for its number, a list for a repeated field. */
export type ProtobufFields = readonly (readonly [number, string | number | Buffer])[];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

export function protobuf(fields: ProtobufFields): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number * 8), varint(value)];
      const body = Buffer.from(value);
      return [varint(number * 8 + 2), varint(body.length), body];
    }),
  );
}

export function protobufBody(apiVersion: string, kind: string, fields: ProtobufFields): Buffer {
  const type = protobuf([
    [1, apiVersion],
    [2, kind],
  ]);
  const envelope = protobuf([
    [1, type],
    [2, protobuf(fields)],
  ]);
  return Buffer.concat([Buffer.from("k8s\0"), envelope]);
}
