// A JSON value, with its text in the document. For .NET Framework and Mono, which have no strict JSON parser of their own. With
// .NET, use System.Text.Json instead: JsonDocument.Parse, TryGetProperty, GetRawText.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

public sealed class Json
{
    static readonly Json Missing = new Json(null, "null");

    Json(object value, string text)
    {
        Value = value;
        Text = text;
    }

    object Value { get; }
    public string Text { get; }
    public string String => Value as string;
    public double Number => Value is double ? (double)Value : 0;
    public List<Json> Items => Value as List<Json>;

    /// <summary>A member of an object; if there is none, a value that is neither text nor number.</summary>
    public Json this[string name]
    {
        get
        {
            var members = Value as Dictionary<string, Json>;
            Json member;
            return members != null && members.TryGetValue(name, out member) ? member : Missing;
        }
    }

    /// <exception cref="FormatException">It is not a JSON document.</exception>
    public static Json Parse(string text)
    {
        var reader = new Reader(text);
        var document = reader.Value(0);
        reader.End();
        return document;
    }

    sealed class Reader
    {
        static readonly Regex Word = new Regex(@"\G(?:(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|true|false|null)");
        readonly string text;
        int at;

        public Reader(string text)
        {
            this.text = text;
        }

        public Json Value(int depth)
        {
            if (depth > 100) throw Invalid(); // A deeper document could exhaust the stack, which ends the process.
            Space();
            int start = at;
            object value;
            if (Skip('{'))
            {
                var members = new Dictionary<string, Json>();
                for (bool more = !Skip('}'); more; more = !Ends('}'))
                {
                    Need('"');
                    string name = String();
                    Need(':');
                    members[name] = Value(depth + 1);
                }
                value = members;
            }
            else if (Skip('['))
            {
                var items = new List<Json>();
                for (bool more = !Skip(']'); more; more = !Ends(']')) items.Add(Value(depth + 1));
                value = items;
            }
            else if (Skip('"'))
            {
                value = String();
            }
            else
            {
                var word = Word.Match(text, at);
                if (!word.Success) throw Invalid();
                at += word.Length;
                value = word.Groups[1].Success ? (object)double.Parse(word.Value, CultureInfo.InvariantCulture) : null;
            }
            return new Json(value, text.Substring(start, at - start));
        }

        /// <summary>The rest of a string after its first quote.</summary>
        string String()
        {
            var found = new StringBuilder();
            for (char c = Next(); c != '"'; c = Next())
            {
                if (c < ' ') throw Invalid();
                if (c == '\\')
                {
                    int escape = "\"\\/bfnrtu".IndexOf(Next());
                    if (escape < 0) throw Invalid();
                    c = escape < 8 ? "\"\\/\b\f\n\r\t"[escape] : (char)(Hex() << 12 | Hex() << 8 | Hex() << 4 | Hex());
                }
                found.Append(c);
            }
            return found.ToString();
        }

        int Hex()
        {
            int digit = "0123456789abcdef".IndexOf(char.ToLowerInvariant(Next()));
            if (digit < 0) throw Invalid();
            return digit;
        }

        char Next()
        {
            if (at == text.Length) throw Invalid();
            return text[at++];
        }

        void Space()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        }

        bool Skip(char wanted)
        {
            Space();
            bool found = at < text.Length && text[at] == wanted;
            if (found) at++;
            return found;
        }

        void Need(char wanted)
        {
            if (!Skip(wanted)) throw Invalid();
        }

        /// <summary>After an item of a list: does the list end here? Otherwise there is a comma.</summary>
        bool Ends(char end)
        {
            if (Skip(end)) return true;
            Need(',');
            return false;
        }

        public void End()
        {
            Space();
            if (at < text.Length) throw Invalid();
        }

        FormatException Invalid()
        {
            return new FormatException("invalid JSON at character " + at);
        }
    }
}
