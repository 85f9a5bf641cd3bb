// JSON that is read strictly, with what `JSON.parse` forgets: a name that stands twice in an object, and how a number is written.

/** A number as it is written. */
export class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The whole number that digits alone write, where it fits 64 bits. */
  whole(): bigint | undefined {
    if (!/^-?\d+$/.test(this.text)) return undefined;
    const value = BigInt(this.text);
    return value === BigInt.asIntN(64, value) || value === BigInt.asUintN(64, value) ? value : undefined;
  }
}

/** A value: objects are maps, numbers are digits. */
export type Json = null | boolean | string | Digits | Json[] | Map<string, Json>;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS: [string, Json][] = [["null", null], ["true", true], ["false", false]];

/** Reads one value; throws where the text is none, or a name stands in an object twice. */
export function read(text: string): Json {
  let place = 0;
  const matched = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = place;
    const found = pattern.exec(text)?.[0];
    place += found?.length ?? 0;
    return found;
  };
  const wanted = (mark: string): void => {
    matched(SPACE);
    if (text[place] !== mark) throw new SyntaxError(`expected ${mark} at ${place}`);
    place += 1;
  };
  /** What stands between an opening and a closing mark, with commas between. */
  const items = (close: string, item: () => void): void => {
    place += 1;
    matched(SPACE);
    if (text[place] === close) {
      place += 1;
      return;
    }
    for (;;) {
      item();
      matched(SPACE);
      if (text[place] === close) break;
      wanted(",");
    }
    place += 1;
  };
  const string = (): string => {
    matched(SPACE);
    const found = matched(STRING);
    if (found === undefined) throw new SyntaxError(`expected a string at ${place}`);
    return JSON.parse(found) as string;
  };
  const value = (): Json => {
    matched(SPACE);
    const mark = text[place];
    if (mark === "{") {
      const members = new Map<string, Json>();
      items("}", () => {
        const name = string();
        if (members.has(name)) throw new SyntaxError(`${JSON.stringify(name)} stands in an object twice`);
        wanted(":");
        members.set(name, value());
      });
      return members;
    }
    if (mark === "[") {
      const all: Json[] = [];
      items("]", () => all.push(value()));
      return all;
    }
    if (mark === '"') return string();
    const word = WORDS.find(([known]) => text.startsWith(known, place));
    if (word !== undefined) {
      place += word[0].length;
      return word[1];
    }
    const digits = matched(NUMBER);
    if (digits === undefined || digits === "") throw new SyntaxError(`expected a value at ${place}`);
    return new Digits(digits);
  };
  const read = value();
  matched(SPACE);
  if (place < text.length) throw new SyntaxError(`expected the end at ${place}`);
  return read;
}
